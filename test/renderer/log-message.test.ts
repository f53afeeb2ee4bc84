import { expect, test } from 'vitest'
import { getLogMessage } from '../../renderer/lib/log-message.ts'

test.each([
  ['{"level":30,"msg":"order loaded"}', 'order loaded'],
  ['{"message":"order loaded","msg":""}', 'order loaded'],
  [' {"msg":{"a":1}} ', ' {"msg":{"a":1}} '],
  ['{"msg":"cut', '{"msg":"cut'],
  ['{"msg" is not JSON}', '{"msg" is not JSON}'],
  ['\u001b[31mplain\u001b[0m', 'plain'],
])('the message of %j', (line, message) => {
  expect(getLogMessage(line)).toBe(message)
})
