import { apps } from './apps.ts'
import { matrix } from './matrix.ts'

/** CI deploys a few; `npm run test:apps` sets this and deploys all. */
const all = process.env.HOMEPORT_TEST_APPS === 'all'

matrix('process', apps.filter((app) => all || app.ci))
