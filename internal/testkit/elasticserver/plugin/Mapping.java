package riskdex.analysis;

import java.io.Reader;
import java.util.List;
import org.apache.lucene.analysis.charfilter.MappingCharFilter;
import org.apache.lucene.analysis.charfilter.NormalizeCharMap;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractCharFilterFactory;
import org.elasticsearch.index.analysis.NormalizingCharFilterFactory;

/** Replaces strings by others before the text is cut into tokens: a list of {@code "from => to"}. */
final class Mapping extends AbstractCharFilterFactory implements NormalizingCharFilterFactory {
    private static final String ARROW = "=>";

    private final NormalizeCharMap map;

    Mapping(String name, Settings settings) {
        super(name);
        List<String> rules = settings.getAsList("mappings", null);
        if (rules == null) {
            throw new IllegalArgumentException("mapping [" + name + "]: give `mappings`; this local server reads no `mappings_path`");
        }
        NormalizeCharMap.Builder builder = new NormalizeCharMap.Builder();
        for (String rule : rules) {
            int arrow = rule.lastIndexOf(ARROW);
            if (arrow < 0) {
                throw new IllegalArgumentException("mapping [" + name + "]: no " + ARROW + " in rule [" + rule + "]");
            }
            builder.add(unescape(rule.substring(0, arrow).trim()), unescape(rule.substring(arrow + ARROW.length()).trim()));
        }
        map = builder.build();
    }

    @Override
    public Reader create(Reader input) {
        return new MappingCharFilter(map, input);
    }

    /** Reads a backslash and the letter n, t, r, b or f, or u and four hex digits; any other character stands for itself. */
    private static String unescape(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            if (++i == text.length()) {
                throw new IllegalArgumentException("nothing follows the last backslash of [" + text + "]");
            }
            switch (text.charAt(i)) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'r' -> out.append('\r');
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'u' -> {
                    if (i + 4 >= text.length()) {
                        throw new IllegalArgumentException("\\u takes four hex digits in [" + text + "]");
                    }
                    out.append((char) Integer.parseInt(text.substring(i + 1, i + 5), 16));
                    i += 4;
                }
                default -> out.append(text.charAt(i));
            }
        }
        return out.toString();
    }
}
