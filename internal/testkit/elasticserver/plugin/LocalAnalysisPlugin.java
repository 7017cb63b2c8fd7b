package riskdex.analysis;

import java.util.HashMap;
import java.util.Map;
import org.apache.lucene.analysis.core.UpperCaseFilter;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.miscellaneous.TrimFilter;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * Supplies, under their real names, the text analysis that the local server lacks and that every
 * released Elasticsearch has. Settings and defaults are those of the released ones, so that an index
 * is created with the same settings here and there.
 *
 * <p>It uses the server's own plugin interface rather than the stable one: only here can a filter say
 * that it may be part of a keyword field's normalizer.
 */
public final class LocalAnalysisPlugin extends Plugin implements AnalysisPlugin {

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        Map<String, AnalysisProvider<TokenFilterFactory>> all = new HashMap<>(LanguageFilters.all());
        all.putAll(Map.of(
            "asciifolding", (index, environment, name, settings) -> new AsciiFolding(name, settings),
            "edge_ngram", (index, environment, name, settings) -> new EdgeNGram(name, settings),
            "stemmer", (index, environment, name, settings) -> new Stemmer(name, settings),
            "synonym_graph", needsSettings((index, environment, name, settings) -> new Synonyms(name, settings)),
            "trim", (index, environment, name, settings) -> new Plain(name, TrimFilter::new),
            "uppercase", (index, environment, name, settings) -> new Plain(name, UpperCaseFilter::new)
        ));
        return all;
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of(
            "whitespace",
            (index, environment, name, settings) -> TokenizerFactory.newFactory(name, WhitespaceTokenizer::new)
        );
    }

    @Override
    public Map<String, AnalysisProvider<CharFilterFactory>> getCharFilters() {
        return Map.of(
            "html_strip", (index, environment, name, settings) -> new HtmlStrip(name, settings),
            "mapping", needsSettings((index, environment, name, settings) -> new Mapping(name, settings)),
            "pattern_replace", needsSettings((index, environment, name, settings) -> new PatternReplace(name, settings))
        );
    }

    /** Marks a filter that means nothing without settings, so that the server does not try it without. */
    private static <T> AnalysisProvider<T> needsSettings(AnalysisProvider<T> provider) {
        return AnalysisPlugin.requiresAnalysisSettings(provider);
    }
}
