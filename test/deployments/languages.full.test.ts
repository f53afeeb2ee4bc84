import { describe, test } from 'vitest'
import { requires } from '../support/requirements.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { deployTwice, languageCases } from './language-apps.ts'

describe.skipIf(!requires('docker').ok || !requires('language-images').ok)('languages without a Dockerfile, on Docker', () => {
  const context = useDeploymentContext('docker')
  test.each(languageCases)('$name', (one) => deployTwice(context, one))
})

describe('languages with the toolchains of this machine', () => {
  const context = useDeploymentContext('process')
  // Apps that need a package registry run only in images, which have the packages.
  for (const one of languageCases)
    if (one.tool !== null) test.skipIf(one.tool !== 'npm' && !requires(one.tool).ok)(one.name, () => deployTwice(context, one))
})
