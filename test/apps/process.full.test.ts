import { apps } from './apps.ts'
import { failingCases } from './failing-cases.ts'
import { liveCases } from './live-cases.ts'
import { appMatrix } from './matrix.ts'

appMatrix('process', apps, [...liveCases, ...failingCases])
