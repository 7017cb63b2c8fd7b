package riskdex.analysis;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.lucene.analysis.CharArraySet;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.ar.ArabicNormalizationFilter;
import org.apache.lucene.analysis.ar.ArabicStemFilter;
import org.apache.lucene.analysis.cjk.CJKBigramFilter;
import org.apache.lucene.analysis.cjk.CJKWidthFilter;
import org.apache.lucene.analysis.de.GermanLightStemFilter;
import org.apache.lucene.analysis.de.GermanNormalizationFilter;
import org.apache.lucene.analysis.es.SpanishLightStemFilter;
import org.apache.lucene.analysis.fr.FrenchLightStemFilter;
import org.apache.lucene.analysis.miscellaneous.KeywordRepeatFilter;
import org.apache.lucene.analysis.no.NorwegianLightStemFilter;
import org.apache.lucene.analysis.pt.PortugueseLightStemFilter;
import org.apache.lucene.analysis.ru.RussianLightStemFilter;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.apache.lucene.analysis.tr.ApostropheFilter;
import org.apache.lucene.analysis.util.ElisionFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.Analysis;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.tartarus.snowball.ext.DanishStemmer;
import org.tartarus.snowball.ext.DutchStemmer;
import org.tartarus.snowball.ext.FinnishStemmer;
import org.tartarus.snowball.ext.ItalianStemmer;
import org.tartarus.snowball.ext.SwedishStemmer;
import org.tartarus.snowball.ext.TurkishStemmer;

/** What languages other than English need. */
final class LanguageFilters {
    private LanguageFilters() {}

    static Map<String, AnalysisProvider<TokenFilterFactory>> all() {
        return Map.of(
            "apostrophe", (index, environment, name, settings) -> new Filter(name, ApostropheFilter::new),
            "arabic_normalization", (index, environment, name, settings) -> new Plain(name, ArabicNormalizationFilter::new),
            "cjk_bigram", (index, environment, name, settings) -> new Filter(none(name, settings), CJKBigramFilter::new),
            "cjk_width", (index, environment, name, settings) -> new Plain(name, CJKWidthFilter::new),
            "elision", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
                CharArraySet articles = Analysis.parseArticles(environment, settings);
                if (articles == null) {
                    throw new IllegalArgumentException("elision [" + name + "]: `articles` is missing");
                }
                return new Plain(name, input -> new ElisionFilter(input, articles));
            }),
            "german_normalization", (index, environment, name, settings) -> new Plain(name, GermanNormalizationFilter::new),
            "keyword_repeat", (index, environment, name, settings) -> new Filter(name, KeywordRepeatFilter::new)
        );
    }

    /** Returns the stemmer of a language, or null if there is none. */
    static UnaryOperator<TokenStream> stemmer(String language) {
        return switch (language) {
            case "arabic" -> ArabicStemFilter::new;
            case "danish" -> input -> new SnowballFilter(input, new DanishStemmer());
            case "dutch" -> input -> new SnowballFilter(input, new DutchStemmer());
            case "finnish" -> input -> new SnowballFilter(input, new FinnishStemmer());
            case "italian" -> input -> new SnowballFilter(input, new ItalianStemmer());
            case "light_french" -> FrenchLightStemFilter::new;
            case "light_german" -> GermanLightStemFilter::new;
            case "light_norwegian" -> NorwegianLightStemFilter::new;
            case "light_portuguese" -> PortugueseLightStemFilter::new;
            case "light_russian" -> RussianLightStemFilter::new;
            case "light_spanish" -> SpanishLightStemFilter::new;
            case "swedish" -> input -> new SnowballFilter(input, new SwedishStemmer());
            case "turkish" -> input -> new SnowballFilter(input, new TurkishStemmer());
            default -> null;
        };
    }

    /** Returns the name of a filter whose settings are not implemented here. */
    private static String none(String name, Settings settings) {
        for (String setting : new String[] { "ignored_scripts", "output_unigrams" }) {
            if (settings.hasValue(setting)) {
                throw new IllegalArgumentException("cjk_bigram [" + name + "]: this local server knows no `" + setting + "`");
            }
        }
        return name;
    }

    private static final class Filter extends TokenFilter {
        private final UnaryOperator<TokenStream> filter;

        Filter(String name, UnaryOperator<TokenStream> filter) {
            super(name);
            this.filter = filter;
        }

        @Override
        public TokenStream create(TokenStream input) {
            return filter.apply(input);
        }
    }
}
