import { apps } from './apps.ts'
import { matrix } from './matrix.ts'

matrix('process', apps)
