package riskdex.analysis;

import java.util.function.UnaryOperator;
import org.apache.lucene.analysis.TokenStream;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractTokenFilterFactory;
import org.elasticsearch.index.analysis.NormalizingTokenFilterFactory;

/** A filter without settings that turns each token into one token, so that a normalizer may use it. */
final class Plain extends AbstractTokenFilterFactory implements NormalizingTokenFilterFactory {
    private final UnaryOperator<TokenStream> filter;

    Plain(String name, Settings settings, UnaryOperator<TokenStream> filter) {
        super(name, settings);
        this.filter = filter;
    }

    @Override
    public TokenStream create(TokenStream input) {
        return filter.apply(input);
    }
}
