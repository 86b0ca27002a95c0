/** All operations. */
import './api-operations.test.ts';
