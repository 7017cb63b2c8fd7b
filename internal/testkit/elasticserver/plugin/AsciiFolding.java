package riskdex.analysis;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.NormalizingTokenFilterFactory;

/** Writes letters with marks as plain ones: {@code São} becomes {@code Sao}. */
final class AsciiFolding extends TokenFilter implements NormalizingTokenFilterFactory {
    private final boolean preserveOriginal;

    AsciiFolding(String name, Settings settings) {
        super(name);
        preserveOriginal = settings.getAsBoolean("preserve_original", false);
    }

    @Override
    public TokenStream create(TokenStream input) {
        return new ASCIIFoldingFilter(input, preserveOriginal);
    }

    /** A normalized value is one token, so the original is not kept beside it. */
    @Override
    public TokenStream normalize(TokenStream input) {
        return new ASCIIFoldingFilter(input, false);
    }
}
