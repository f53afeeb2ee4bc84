import { secretSinks } from './secrets.ts'

secretSinks('process')
