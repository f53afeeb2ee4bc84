import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'
import { volumeSnapshot } from './volumes.ts'

export const unsavedFiles = z.object({
  id: z.string(),
  service: z.string().nullable().describe('Null for the service that has the project’s address.'),
  path: z.string().describe('What to pass to addVolume to keep them.'),
  kind: z.enum(['database', 'uploads', 'files']).describe('`database`: SQLite. `uploads`: a folder for uploads or data. `files`: many megabytes.'),
  is_file: z.boolean(),
  files: z.number().int(),
  size_bytes: z.number().int().nullable().describe('Null when it is unknown.'),
  volume: z.string().describe('The name of the volume that would keep them.'),
  saved: volumeSnapshot
    .nullable()
    .describe('The newest snapshot of the files that an earlier version wrote, from the moment before that version was replaced.'),
  found_at: dateTime,
})
export type UnsavedFiles = z.output<typeof unsavedFiles>

/** Instance-only operations. */
export const unsavedFilesOperations = {
  listUnsavedFiles: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/unsaved-files',
    resource: 'project',
    group: 'Instance',
    summary: 'List files that the next deployment would lose',
    description: 'Files that the production version wrote outside of volumes and that look like data. Each path is reported once.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ unsaved_files: z.array(unsavedFiles) }) },
    errors: ['project_not_found'],
  }),
  dismissUnsavedFiles: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/unsaved-files/{id}/dismiss',
    resource: 'project',
    group: 'Instance',
    summary: 'Dismiss a report of unsaved files',
    description: 'The path is not reported again, and its files are lost with the next deployment.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams.extend({ id: z.string() }),
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'volume_not_found'],
  }),
}
