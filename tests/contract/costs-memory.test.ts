import { createMemoryCosts } from '../../src/records/memory-costs.ts';
import { costsContract } from './costs-contract.ts';

const costs = createMemoryCosts();
costsContract(() => costs);
