import { z } from 'zod'
import { deploymentOperations } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { projectParams } from './shared.ts'

/** Content types of a raw body. The actual format is detected from the first bytes. */
export const archiveTypes = ['application/zip', 'application/gzip', 'application/x-gzip', 'application/x-tar+gzip'] as const

const formatMebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`

const archiveName = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .optional()
  .describe('The name of the archive or folder, for the title of the deployment (our reading).')

const archiveUpload = {
  access: 'caller',
  scope: 'deploy',
  params: projectParams,
  upload: { types: archiveTypes, max_bytes: limits.upload.packed_bytes },
  success: deploymentOperations.deployProject.success,
  errors: ['invalid_input', 'invalid_archive', 'project_not_found', 'storage_full', 'runtime_not_isolated'],
  is_atomic: true,
} as const

export const uploadOperations = {
  uploadProject: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/upload',
    resource: 'project',
    group: 'Uploads',
    summary: 'Deploy a source archive',
    description: `A \`.zip\` or \`.tar.gz\`, as the request body or as the only field \`file\` of a form; the format is detected from the first bytes. At most ${formatMebibytes(limits.upload.packed_bytes)} packed, ${formatMebibytes(limits.upload.unpacked_bytes)} and ${limits.upload.entries} entries unpacked, and no more than ${limits.upload.ratio} times its packed size. It is checked before the build: \`invalid_archive\` names the entry and the reason. A single top-level folder is stripped. The archive is kept for retries and rollbacks. \`node_modules\` and \`.git\` are ignored (our reading).`,
    query: z.object({ name: archiveName }),
    ...archiveUpload,
  }),
}

export const commitUploadOperations = {
  uploadCommit: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/upload',
    resource: 'project',
    group: 'Instance',
    summary: 'Deploy a source archive with its commit',
    description: 'Like an upload, for an archive of a known commit, which the deployment shows like a commit of a repository.',
    query: z.object({
      name: archiveName,
      commit_sha: z
        .string()
        .regex(/^[0-9a-f]{7,64}$/)
        .optional(),
      commit_message: z.string().min(1).max(500).optional(),
      commit_author: z.string().min(1).max(200).optional(),
      no_cache: z.enum(['true', 'false']).optional().describe('Like `no_cache` of createDeployment.'),
    }),
    ...archiveUpload,
  }),
}
