import { z } from 'zod'
import { limits } from './limits.ts'
import { logLevels } from './log-levels.ts'
import { operation } from './operation.ts'
import { dateTime, empty, pageQuery, projectParams } from './shared.ts'

const branch = z.string().min(limits.branch.min).max(limits.branch.max).optional()
const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'Use a whole number.')
  .transform(Number)
  .pipe(z.number().int())

const logLine = z.object({
  record: z.number().int().describe('Its position in its log. Other records, such as state changes, are counted too.'),
  time: dateTime,
  stream: z.enum(['stdout', 'stderr', 'system']),
  level: z.enum(logLevels).describe('As the line states it in text or JSON; otherwise `error` on the standard error of an app, else `info`.'),
  line: z.string().describe('As the app wrote it, with its escape sequences. Secrets are masked.'),
  deployment_id: z.string().nullable(),
})
export type StoredLogLine = z.output<typeof logLine>

const foundLine = logLine.extend({
  log: z.enum(['runtime', 'build']),
  project: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
  target: z.enum(['production', 'preview']),
  branch: z.string().nullable().describe('Of a preview; null for production, and for a preview that was closed.'),
  service: z.string().nullable().describe('The service of the project; null for the main one.'),
})
export type FoundLogLine = z.output<typeof foundLine>

/** Not among the 45 operations: lines by their text, and around a time. */
export const logSearchOperations = {
  searchLogs: operation({
    method: 'GET',
    path: '/instance/logs',
    group: 'Instance',
    summary: 'Search the logs of all my projects and deployments, newest first',
    description:
      'Words are found at the start of words, regardless of case and accents; all of them must be in the line. Text in double quotes is found with its spaces. A page may have fewer lines than `limit`, or none, although there are more: request the next page until `next_cursor` is null.',
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: pageQuery.extend({
      query: z.string().max(limits.log_search.query).optional().describe('Words, or text in double quotes. Without it, every line is found.'),
      project: z.string().max(50).optional().describe('The slug of a project.'),
      log: z.enum(['runtime', 'build']).optional(),
      level: z.enum(['error', 'warn']).optional().describe('`error`: only errors; `warn`: warnings and errors.'),
      since: dateTime.optional(),
      until: dateTime.optional(),
    }),
    success: { status: 200, json: z.object({ lines: z.array(foundLine), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  listLogLines: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/log-lines',
    resource: 'project',
    group: 'Instance',
    summary: 'Read a part of a log: around a line or a time, or before or after a line',
    description: 'The oldest line first. Without a position, the last lines.',
    access: 'caller',
    params: projectParams,
    query: z.object({
      branch: branch.describe('The preview of this branch instead of production.'),
      service: z.string().max(100).optional().describe('A service of the live version; default: the main one.'),
      deployment: z.string().max(60).optional().describe('The build log of this deployment instead of the runtime log.'),
      at: dateTime.optional().describe('The lines around this time.'),
      around: wholeNumber.optional().describe('The lines around this record.'),
      before: wholeNumber.optional().describe('The lines before this record.'),
      after: wholeNumber.optional().describe('The lines after this record.'),
      limit: wholeNumber.pipe(z.number().min(1).max(limits.log_search.lines)).optional().meta({ default: 200 }),
    }),
    success: { status: 200, json: z.object({ lines: z.array(logLine), has_earlier: z.boolean(), has_later: z.boolean() }) },
    errors: ['invalid_input', 'project_not_found', 'service_not_found', 'deployment_not_found'],
  }),
}
