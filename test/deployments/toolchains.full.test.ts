import { describe, expect, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { languageCases } from './language-apps.ts'

/** Each language from its source to a response, and again after a one-line change, with the toolchains of this machine. */
describe('languages on the process runtime', () => {
  const context = useDeploymentContext('process')

  for (const { name: language, tool, framework, files, settings } of languageCases) {
    // Apps that need a package registry run only in images, which have the packages.
    if (tool === null) continue
    test.skipIf(tool !== 'npm' && !requires(tool).ok)(language, async () => {
      const name = `lang-${language}`
      const repository = await context.projectWith(name, files('first'))
      if (settings) await context.platform.api('PATCH', `/v1/projects/${name}`, settings)
      const deployment = await context.deployAndWait(name)
      expect(deployment.error, deployment.build_log).toBeNull()
      expect(deployment.framework).toBe(framework)
      expect(await context.platform.fetchEdge(`${name}.localhost`)).toMatchObject({ status: 200, body: 'first' })
      repository.commit(files('second'))
      await context.deployReady(name)
      expect((await context.platform.fetchEdge(`${name}.localhost`)).body).toBe('second')
    })
  }
})
