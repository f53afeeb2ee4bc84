import { z } from 'zod'
import { deploymentOperations } from './deployments.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { empty, projectParams } from './shared.ts'

/** What a raw body may be called; what it is, its first bytes say. */
export const archiveTypes = ['application/zip', 'application/gzip', 'application/x-gzip', 'application/x-tar+gzip'] as const

const formatMebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`

const archiveUpload = {
  access: 'caller',
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
    group: 'Uploads',
    summary: 'Deploy an archive of source',
    description: `A \`.zip\` or \`.tar.gz\`, as the body itself or as the one field \`file\` of a form; its first bytes say which it is. At most ${formatMebibytes(limits.upload.packed_bytes)} packed, ${formatMebibytes(limits.upload.unpacked_bytes)} and ${limits.upload.entries} entries unpacked, and no more than ${limits.upload.ratio} times its packed size. It is checked before anything is built: \`invalid_archive\` names the entry and says why. One top folder that holds everything is stripped. The archive is kept, so that retry and roll-back work. Folders that tools make (\`node_modules\`, \`.git\`) are left out (our reading).`,
    query: empty,
    ...archiveUpload,
  }),
}

export const commitUploadOperations = {
  uploadCommit: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/upload',
    group: 'Instance',
    summary: 'Deploy an archive of source, with the commit that it was made from',
    description: 'As an upload, for an archive whose commit is known: the deployment shows it as it shows a commit of a repository.',
    query: z.object({
      commit_sha: z
        .string()
        .regex(/^[0-9a-f]{7,64}$/)
        .optional(),
      commit_message: z.string().min(1).max(500).optional(),
      commit_author: z.string().min(1).max(200).optional(),
    }),
    ...archiveUpload,
  }),
}
