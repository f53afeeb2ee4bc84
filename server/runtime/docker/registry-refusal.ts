import { dockerHub } from '../../lib/image-name.ts'
import { BuildFailure } from '../runtime.ts'
import type { RegistryLogin } from '../registries.ts'

const limitPattern = /toomanyrequests|pull rate limit|429 Too Many/i
const missingPattern = /manifest unknown|manifest for .* not found|name unknown|not found: manifest/i
const refusalPattern =
  /no basic auth credentials|unauthorized|authentication required|incorrect username or password|\b401\b|403 Forbidden|denied|insufficient_scope|may require 'docker login'/i

/** Why a registry refused an image, with the fix; undefined for other problems, such as network errors. `subject` starts the message. */
export function explainRefusal(subject: string, host: string, login: RegistryLogin | undefined, error: unknown): BuildFailure | undefined {
  const text = error instanceof Error ? error.message : String(error)
  const registry = host === dockerHub ? 'Docker Hub' : host
  const add = `Add credentials for ${host} in the project’s settings, or with homeport registries SLUG add ${host} --username NAME.`
  const create = (message: string, hint: string) => new BuildFailure('build_failed', `${subject} ${message}`, hint, error)
  if (limitPattern.test(text))
    return login
      ? create(`was not pulled, because ${login.username || 'the account'} reached the pull limit of ${registry}.`, 'Try again later.')
      : create(
          `was not pulled, because this machine reached the pull limit of ${registry} for requests without an account.`,
          `${add} On your own machine, docker login does it too. Or try again later.`,
        )
  if (missingPattern.test(text)) return create(`does not exist in ${registry}: it has no such image or tag.`, 'Check the name and the tag.')
  if (!refusalPattern.test(text)) return undefined
  if (!login)
    return create(
      `was not pulled: ${registry} requires a sign-in for it, or it does not exist.`,
      `${add} On your own machine, docker login${host === dockerHub ? '' : ` ${host}`} does it too.`,
    )
  const whose = login.origin === 'project' ? 'the project’s credentials' : 'your docker login'
  const account = login.username === '' ? '' : ` of ${login.username}`
  return create(
    `was not pulled: ${registry} refused ${whose}${account}, or the image does not exist.`,
    login.origin === 'project'
      ? `Replace them with homeport registries SLUG add ${host} --username NAME, and check that the account may pull the image.`
      : `Run docker login${host === dockerHub ? '' : ` ${host}`} again, and check that the account may pull the image.`,
  )
}
