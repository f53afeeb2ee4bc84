import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { moreStories, useScene } from './stories.ts'

const long = { redeploys: 20, cancel_ms: 2_000 }

describe('deployments on process', () => moreStories(useScene('process'), long))
describe.skipIf(!requires('docker').ok)('deployments on Docker', () => moreStories(useScene('docker'), long))
