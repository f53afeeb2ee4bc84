/** The upgrade of PostgreSQL on both servers; for the embedded one, the programs of 15 are downloaded if this machine does not have them. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { upgradeSuite } from './upgrade-suite.ts'

const createFolder = () => mkdtempSync(join(tmpdir(), 'homeport-data-'))

describe('without Docker', () => upgradeSuite('process', createFolder()))
describe.skipIf(!requires('docker').ok)('in Docker', () => upgradeSuite('docker', createFolder()))
