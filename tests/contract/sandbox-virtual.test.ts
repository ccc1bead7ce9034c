import { createVirtualSandboxes } from '../../src/sandbox/virtual/provider.ts';
import { sandboxContract } from './sandbox-contract.ts';

sandboxContract({
  name: 'virtual',
  createProvider: ({ maxBytes, memoryMb }) =>
    createVirtualSandboxes({ maxBytes, ...(memoryMb && { heapMb: memoryMb }) }),
});
