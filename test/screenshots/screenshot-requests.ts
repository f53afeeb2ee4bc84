import type { TestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** A screenshot as the API sends it. */
export async function fetchScreenshot(platform: TestPlatform, slug: string, id: string, variant: string) {
  const answer = await fetch(`${platform.handle.api_url}/v1/projects/${slug}/deployments/${id}/screenshot/${variant}.png`, {
    headers: { authorization: `Bearer ${platform.handle.instance.token}` },
  })
  const { status, headers } = answer
  return { status, type: headers.get('content-type'), cache: headers.get('cache-control'), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Waits until the deployment has both screenshots. */
export const waitForScreenshots = (platform: TestPlatform, slug: string, id: string) =>
  until(
    async () => {
      const { screenshots } = await platform.getDeployment(slug, id)
      return (screenshots.desktop && screenshots.mobile) || undefined
    },
    { what: `both pictures of ${slug}` },
  )
