package riskdex.analysis;

import java.io.Reader;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.pattern.PatternReplaceCharFilter;
import org.elasticsearch.common.regex.Regex;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractCharFilterFactory;
import org.elasticsearch.index.analysis.NormalizingCharFilterFactory;

/** Replaces what a regular expression matches before the text is cut into tokens. */
final class PatternReplace extends AbstractCharFilterFactory implements NormalizingCharFilterFactory {
    private final Pattern pattern;
    private final String replacement;

    PatternReplace(String name, Settings settings) {
        super(name);
        String expression = settings.get("pattern", "");
        if (expression.isEmpty()) {
            throw new IllegalArgumentException("pattern_replace [" + name + "]: `pattern` is missing");
        }
        pattern = Regex.compile(expression, settings.get("flags"));
        replacement = settings.get("replacement", "");
    }

    @Override
    public Reader create(Reader input) {
        return new PatternReplaceCharFilter(pattern, replacement, input);
    }
}
