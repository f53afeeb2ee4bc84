import type { TestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** A screenshot as the API sends it. */
export async function pictureOf(home: TestPlatform, slug: string, id: string, variant: string) {
  const answer = await fetch(`${home.platform.api_url}/v1/projects/${slug}/deployments/${id}/screenshot/${variant}.png`, {
    headers: { authorization: `Bearer ${home.platform.instance.token}` },
  })
  const { status, headers } = answer
  return { status, type: headers.get('content-type'), cache: headers.get('cache-control'), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** Waits until both are there, as the deployment says itself. */
export const taken = (home: TestPlatform, slug: string, id: string) =>
  until(
    async () => {
      const { screenshots } = await home.deployment(slug, id)
      return (screenshots.desktop && screenshots.mobile) || undefined
    },
    { what: `both pictures of ${slug}` },
  )
