import type { Deployment } from '../../server/contract/deployments.ts'
import type { ScreenshotVariant } from '../../server/contract/previews.ts'
import { useConnection } from '../stores/connection.ts'

export type Pictured = Pick<Deployment, 'id' | 'screenshots'>

/** Where the picture of a deployment lies; null while there is none, and where a browser could not ask for it: an `<img>` sends no token. */
export function usePictureUrl(): (slug: string, deployment: Pictured | null | undefined, variant: ScreenshotVariant) => string | null {
  const { client, token } = useConnection((state) => state.current)
  return (slug, deployment, variant) =>
    deployment?.screenshots[variant] && token === null ? client.urlOf('getScreenshot', { params: { slug, id: deployment.id, variant } }) : null
}
