import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { projectIdParams, projectParams } from './shared.ts'

const format = z
  .enum(['text', 'ndjson'])
  .optional()
  .meta({ default: 'text' })
  .describe('`text`: time and line, without colors. `ndjson`: the records of the event stream, one JSON object per line.')

const logFile = { status: 200, content_type: 'text/plain', is_stream: true } as const
const description =
  'All retained lines up to the time of the request. If a log is too large, its middle is left out: a line (`{"dropped": N}` in ndjson) says how many records.'

/** Not among the 45 operations: whole logs as files. The stream of the runtime log starts at most 2000 lines back. */
export const logDownloadOperations = {
  downloadRuntimeLog: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/runtime-log',
    resource: 'project',
    group: 'Instance',
    summary: 'Download the whole runtime log',
    description,
    access: 'caller',
    params: projectParams,
    query: z.object({
      format,
      branch: z.string().min(limits.branch.min).max(limits.branch.max).optional().describe('The preview of this branch instead of production.'),
      service: z.string().max(100).optional().describe('A service of the live version; default: the main one.'),
    }),
    success: logFile,
    errors: ['invalid_input', 'project_not_found', 'service_not_found'],
  }),
  downloadBuildLog: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/deployments/{id}/build-log',
    resource: 'deployment',
    group: 'Instance',
    summary: 'Download the whole build log of a deployment',
    description,
    access: 'caller',
    params: projectIdParams,
    query: z.object({ format }),
    success: logFile,
    errors: ['invalid_input', 'project_not_found', 'deployment_not_found'],
  }),
}
