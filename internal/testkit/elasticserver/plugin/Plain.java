package riskdex.analysis;

import java.util.function.UnaryOperator;
import org.apache.lucene.analysis.TokenStream;
import org.elasticsearch.index.analysis.NormalizingTokenFilterFactory;

/** A filter without settings that turns each token into one token, so that a normalizer may use it. */
final class Plain extends TokenFilter implements NormalizingTokenFilterFactory {
    private final UnaryOperator<TokenStream> filter;

    Plain(String name, UnaryOperator<TokenStream> filter) {
        super(name);
        this.filter = filter;
    }

    @Override
    public TokenStream create(TokenStream input) {
        return filter.apply(input);
    }
}
