import { writeFile } from 'node:fs/promises'

console.log('Laying the keel')
console.log('Planking the hull')

const hull = process.env.HULL?.trim()
if (!hull) {
  console.error('Water is coming in: HULL is not set')
  console.error('To mend it: Environment, add HULL with what the hull shall be made of, such as oak. Then deploy again.')
  process.exit(1)
}

await writeFile('boat.json', JSON.stringify({ hull }))
console.log(`The hull is of ${hull}, and tight. Launching`)
