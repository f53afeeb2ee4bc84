import type { Page } from '@playwright/test'

const filler = 'The quay at the end of the long road past the lighthouse and the third buoy north of the old harbour '
const repeatToLength = (length: number, from = filler) => from.repeat(Math.ceil(length / from.length)).slice(0, length)

/** The maximum lengths of the contract, by field name. */
const longTexts: Record<string, string> = {
  name: repeatToLength(200),
  project_name: repeatToLength(200),
  commit_message: `${repeatToLength(300)}\n\n${repeatToLength(1_700)}`,
  commit_author: repeatToLength(80),
  branch: repeatToLength(100, 'feature/show-the-tide-beside-each-berth-'),
  repo_branch: repeatToLength(100, 'feature/show-the-tide-beside-each-berth-'),
  hostname: `${repeatToLength(63, 'a-very-long-label-of-a-name-')}.${repeatToLength(60, 'boats-and-rope-')}.example.com`,
  key: repeatToLength(200, 'A_KEY_THAT_SAYS_ALL_OF_IT_'),
  value: repeatToLength(10_000),
  email: `${repeatToLength(64, 'first.and.last.name.')}@${repeatToLength(50, 'harbour-')}.example.com`,
  repo_url: `https://git.example.com/${repeatToLength(250, 'a-team-with-a-long-name/')}`,
  last_check_error: repeatToLength(400),
  path: `/srv/${repeatToLength(240, 'a-folder-in-a-folder/')}`,
}
/** How many list items there are then. */
const longListLengths: Record<string, number> = { env_vars: 200, domains: 40, tokens: 40, previews: 20, dumps: 20, members: 20 }

/** Every response of the platform with names, messages and values of maximum length, and full lists. URLs stay as they are. */
export async function withLongResponses(page: Page): Promise<void> {
  await page.route(/\/(v1|instance)\/(?!events)/, async (route) => {
    if (route.request().method() !== 'GET' || /-logs|log-stream|\/stream|screenshot/.test(route.request().url())) return route.continue()
    const response = await route.fetch()
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response })
    await route.fulfill({ response, json: lengthen(await response.json(), '') })
  })
}

function lengthen(value: unknown, field: string): unknown {
  if (typeof value === 'string') return longTexts[field] ?? value
  if (Array.isArray(value)) {
    const all = value.map((one) => lengthen(one, field))
    const wanted = all.length === 0 ? 0 : (longListLengths[field] ?? all.length)
    return Array.from({ length: Math.max(all.length, wanted) }, (_, index) => withUniqueId(all[index % all.length], index))
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unchangedFields.includes(name) ? one : lengthen(one, name)]))
}

/** Objects whose names are identifiers of the contract, not entered by users. */
const unchangedFields = ['runtime', 'steps', 'checks', 'plans']

/** Keeps ids unique when one item is repeated. */
function withUniqueId(one: unknown, index: number): unknown {
  return typeof one === 'object' && one !== null && 'id' in one && index > 0 && !('status' in one && 'commit_sha' in one)
    ? { ...one, id: `${String(one.id)}${index}` }
    : one
}
