import { writeFile } from 'node:fs/promises'

console.log('Laying the keel')
console.log('Planking the hull')

const hull = process.env.HULL?.trim()
if (!hull) {
  console.error('HULL is not set, so the boat leaks')
  console.error('To fix it, add the variable HULL under Environment with a material, such as oak, and deploy again.')
  process.exit(1)
}

await writeFile('boat.json', JSON.stringify({ hull }))
console.log(`The hull is made of ${hull}. Launching`)
