import { z } from 'zod'
import { operation } from './operation.ts'
import { empty } from './shared.ts'

export const sourceOperations = {
  downloadSource: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/deployments/{id}/source',
    resource: 'deployment',
    group: 'Instance',
    summary: 'Download the source of a deployment as an archive',
    description:
      'A .tar.gz of exactly that commit, folder or upload, without .git and node_modules. It can be uploaded to another instance. 404 `source_not_found` if the source is no longer available (a folder that has changed, an archive beyond `keep_deployments`).',
    access: 'caller',
    scope: 'admin',
    params: z.object({ slug: z.string(), id: z.string() }),
    query: empty,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['project_not_found', 'deployment_not_found', 'source_not_found'],
  }),
}
