package riskdex.analysis;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.ngram.EdgeNGramTokenFilter;
import org.elasticsearch.common.settings.Settings;

/** Makes a token of each beginning of a token: {@code lon} becomes {@code l}, {@code lo}. */
final class EdgeNGram extends TokenFilter {
    private final int minGram;
    private final int maxGram;
    private final boolean preserveOriginal;

    EdgeNGram(String name, Settings settings) {
        super(name);
        minGram = settings.getAsInt("min_gram", 1);
        maxGram = settings.getAsInt("max_gram", 2);
        preserveOriginal = settings.getAsBoolean("preserve_original", false);
        if ("front".equals(settings.get("side", "front")) == false) {
            throw new IllegalArgumentException("edge_ngram [" + name + "]: this local server knows only side [front]");
        }
    }

    @Override
    public TokenStream create(TokenStream input) {
        return new EdgeNGramTokenFilter(input, minGram, maxGram, preserveOriginal);
    }

    @Override
    public boolean breaksFastVectorHighlighter() {
        return true;
    }
}
