package riskdex.analysis;

import java.io.IOException;
import java.io.StringReader;
import java.text.ParseException;
import java.util.List;
import java.util.function.Function;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.synonym.SolrSynonymParser;
import org.apache.lucene.analysis.synonym.SynonymGraphFilter;
import org.apache.lucene.analysis.synonym.SynonymMap;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexService.IndexCreationContext;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.CustomAnalyzer;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;

/**
 * Puts the synonyms of a word or of several words beside them. The rules are read by what stands
 * before the filter in its analyzer, so that a filter after a stemmer knows every form of a word.
 */
final class Synonyms extends TokenFilter {
    private static final List<String> UNKNOWN = List.of("synonyms_path", "synonyms_set", "lenient", "format", "updateable");

    private final String rules;
    private final boolean expand;

    Synonyms(String name, Settings settings) {
        super(name);
        for (String setting : UNKNOWN) {
            if (settings.hasValue(setting)) {
                throw new IllegalArgumentException("synonym_graph [" + name + "]: this local server knows no `" + setting + "`");
            }
        }
        List<String> list = settings.getAsList("synonyms", null);
        if (list == null) {
            throw new IllegalArgumentException("synonym_graph [" + name + "]: `synonyms` is missing");
        }
        rules = String.join("\n", list);
        expand = settings.getAsBoolean("expand", true);
    }

    @Override
    public TokenStream create(TokenStream input) {
        throw new IllegalStateException("synonym_graph [" + name() + "] has to be told what stands before it");
    }

    @Override
    public TokenFilterFactory getChainAwareTokenFilterFactory(
        IndexCreationContext context,
        TokenizerFactory tokenizer,
        List<CharFilterFactory> charFilters,
        List<TokenFilterFactory> before,
        Function<String, TokenFilterFactory> all
    ) {
        SynonymMap map = read(
            new CustomAnalyzer(
                tokenizer,
                charFilters.toArray(CharFilterFactory[]::new),
                before.stream().map(TokenFilterFactory::getSynonymFilter).toArray(TokenFilterFactory[]::new)
            )
        );
        String name = name();
        return new TokenFilterFactory() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public TokenStream create(TokenStream input) {
                return map.fst == null ? input : new SynonymGraphFilter(input, map, false);
            }
        };
    }

    private SynonymMap read(Analyzer analyzer) {
        SolrSynonymParser parser = new SolrSynonymParser(true, expand, analyzer);
        try {
            parser.parse(new StringReader(rules));
            return parser.build();
        } catch (IOException | ParseException e) {
            throw new IllegalArgumentException("failed to build synonyms", e);
        }
    }
}
