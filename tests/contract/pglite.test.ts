import { pglite } from '../services/backends.ts';
import { queueContract } from './queue-contract.ts';
import { recordsContract } from './records-contract.ts';

recordsContract(pglite);
queueContract(pglite);
