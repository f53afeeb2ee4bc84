import { describe } from 'vitest'
import { requires } from '../support/requirements.ts'
import { apps } from './apps.ts'
import { matrix } from './matrix.ts'

/** A representative third: a server and a site of each way to install and to start. */
const third = ['html', 'express', 'vite-react', 'dockerfile', 'nextjs', 'sveltekit-static', 'nestjs', 'astro', 'react-router', 'pnpm-workspace', 'npm-workspaces-site']

describe.skipIf(!requires('docker').ok)('with a Docker engine', () => {
  matrix('docker', apps.filter(({ name }) => third.includes(name)))
})
