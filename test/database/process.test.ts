import { dumpStories, leaveHalfDump } from './dump-stories.ts'
import { usePlatform } from './guests.ts'
import { databaseStories } from './stories.ts'

const platform = usePlatform('process', leaveHalfDump)
databaseStories(platform)
dumpStories(platform, { rows: 2_000 })
