package dev.verbscope.analyzer.chart;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnitsTest {
    @Test
    void numbersHaveAtMostThreeDigits() {
        assertThat(Units.si(0)).isEqualTo("0");
        assertThat(Units.si(0.9375)).isEqualTo("0.938");
        assertThat(Units.si(1.5)).isEqualTo("1.5");
        assertThat(Units.si(15.27)).isEqualTo("15.3");
        assertThat(Units.si(500)).isEqualTo("500");
        assertThat(Units.si(9_500)).isEqualTo("9500");
        assertThat(Units.si(12_040)).isEqualTo("12k");
        assertThat(Units.si(1_234_567)).isEqualTo("1.23M");
        assertThat(Units.si(-999_600)).isEqualTo("-1M");
        assertThat(Units.si(2e9)).isEqualTo("2G");
    }

    @Test
    void durationsHaveTheUnitThatSuits() {
        assertThat(Units.duration(43, true)).isEqualTo("43 ns");
        assertThat(Units.duration(65_536, true)).isEqualTo("65.5 \u00b5s");
        assertThat(Units.duration(5_310_000, true)).isEqualTo("5.31 ms");
        assertThat(Units.duration(6_410_000_000L, true)).isEqualTo("6.41 s");
        assertThat(Units.duration(65_536, false)).isEqualTo("65.5k clock units");
    }
}
