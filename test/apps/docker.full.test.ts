import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { apps } from './apps.ts'
import { failingCases } from './failing-cases.ts'
import { liveCases } from './live-cases.ts'
import { appMatrix } from './matrix.ts'

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  appMatrix('docker', apps, [...liveCases, ...failingCases])
})
