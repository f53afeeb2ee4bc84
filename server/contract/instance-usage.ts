import { z } from 'zod'
import { operation } from './operation.ts'
import { empty } from './shared.ts'

export const instanceUsageOperations = {
  getInstanceUsage: operation({
    method: 'GET',
    path: '/instance/usage',
    group: 'Instance',
    summary: 'Get the load of the machine and the number of running apps',
    access: 'owner',
    scope: 'read',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        cpu: z.object({ percent: z.number().describe('Of all cores, since the previous request.'), cores: z.number().int() }),
        memory: z.object({ used_bytes: z.number().int(), total_bytes: z.number().int() }),
        apps: z.object({ live: z.number().int(), asleep: z.number().int(), failed: z.number().int(), total: z.number().int() }),
      }),
    },
    errors: [],
  }),
}
