package dev.verbscope.kmodel.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The test runs this function of the API table to this end. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Repeatable(Covers.List.class)
public @interface Covers {
    /** Kernel name of the function. */
    String value();

    /** The result in the table that the test provokes; empty for success. */
    String outcome() default "";

    /** More than one. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.METHOD)
    @interface List {
        /** Each. */
        Covers[] value();
    }
}
