/** Handlers of previews and of watched repositories, for the double. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'
import { newId } from '../../server/lib/id.ts'

type PreviewHandlers = Pick<Handlers<Context>, 'listPreviews' | 'getWatching' | 'updateWatching' | 'checkRepository'>

const now = '2026-01-31T12:00:00.000Z'
const watching = { deploys_pushes: true, previews: true, preview_databases: false, state: 'watching' as const, message: null, checked_at: now }

/** `visible` throws the 404 of a project that the caller may not see. */
export function createPreviewHandlers(visible: (context: Context, slug: string) => unknown): PreviewHandlers {
  return {
    async listPreviews(context, { params }) {
      visible(context, params.slug)
      const host = `change--${params.slug}.localhost`
      const one = {
        branch: 'change',
        host,
        url: `http://${host}:4680`,
        status: 'ready' as const,
        deployment_id: newId('dpl'),
        commit_sha: null,
        commit_message: null,
        is_cold: false,
        created_at: now,
        updated_at: now,
        last_request_at: null,
      }
      return { previews: [one] }
    },
    async getWatching(context, { params }) {
      visible(context, params.slug)
      return { watching }
    },
    async updateWatching(context, { params, body }) {
      visible(context, params.slug)
      const { deploys_pushes = true, previews = true, preview_databases = false } = body
      return { watching: { ...watching, deploys_pushes, previews, preview_databases } }
    },
    async checkRepository(context, { params }) {
      visible(context, params.slug)
      return { watching }
    },
  }
}
