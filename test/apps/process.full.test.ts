import { apps } from './apps.ts'
import { failingCases } from './failing-cases.ts'
import { liveCases } from './live-cases.ts'
import { matrix } from './matrix.ts'

matrix('process', apps, [...liveCases, ...failingCases])
