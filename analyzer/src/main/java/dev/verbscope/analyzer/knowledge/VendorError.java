package dev.verbscope.analyzer.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a device's own error code means.
 *
 * @param driver name of the driver
 * @param code the number in vendor_err
 * @param meaning what it says
 * @param check what to look at
 */
public record VendorError(String driver, long code, String meaning, String check) {
    private static final List<VendorError> ALL = read();

    private static List<VendorError> read() {
        List<VendorError> errors = new ArrayList<>();
        for (JsonNode error : Resource.array("vendor-errors", "errors")) {
            errors.add(new VendorError(
                    error.required("driver").asText(),
                    Resource.number(error.required("code").asText()),
                    error.required("meaning").asText(),
                    error.required("check").asText()));
        }
        return List.copyOf(errors);
    }

    /** All that are known. */
    public static List<VendorError> all() {
        return ALL;
    }

    /** The code of a driver. */
    public static Optional<VendorError> of(String driver, long code) {
        return ALL.stream()
                .filter(e -> e.code == code && e.driver.equals(driver))
                .findFirst();
    }
}
