package riskdex.analysis;

import org.elasticsearch.index.analysis.TokenFilterFactory;

/** A filter with a name. The server's own class for this differs between its major versions. */
abstract class TokenFilter implements TokenFilterFactory {
    private final String name;

    TokenFilter(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }
}
