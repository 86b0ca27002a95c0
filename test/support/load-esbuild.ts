/** Esbuild keeps the working folder in which a process loads it first, which must not be one that a test removes. */
import 'esbuild';
