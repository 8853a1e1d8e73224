/** What the tests share: starting programs in JVMs of their own, with or without Verbena. */
package io.verbena.compat.support;
