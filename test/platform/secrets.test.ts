import { secretLeakSuite } from './secrets.ts'

secretLeakSuite('process')
