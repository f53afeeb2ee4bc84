import { dumpSuite, createPartialDump } from './dump-suite.ts'
import { usePlatform } from './guest-book-app.ts'
import { databaseSuite } from './database-suite.ts'

const getPlatform = usePlatform('process', createPartialDump)
databaseSuite(getPlatform)
dumpSuite(getPlatform, { rows: 2_000 })
