// Writes admin/page/land.svg, the coastlines under the maps of the pages:
//
//	npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
//	node internal/tools/landmap/land.mjs package/land-110m.json > admin/page/land.svg
//
// A unit is a tenth of a degree, and north is up. Points that a map of a continent could not tell
// from the one before are left out.
import {readFileSync} from "node:fs"

const {arcs, objects, transform: {scale, translate}} = JSON.parse(readFileSync(process.argv[2]))
const points = arcs.map(arc => {
  let x = 0, y = 0
  return arc.map(([dx, dy]) => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]].map((v, i) => Math.round(i ? -10 * v : 10 * v)))
})
const arc = i => i < 0 ? points[~i].toReversed() : points[i]
const path = ring => {
  const kept = []
  for (let [x, y] of ring.flatMap(arc)) {
    const [lastX, lastY] = kept.at(-1) ?? [x, Infinity]
    x += 3600 * Math.round((lastX - x) / 3600) // a ring goes on across the date line
    if (Math.hypot(x - lastX, y - lastY) >= 3) kept.push([x, y])
  }
  if (kept.length < 3) return ""
  const [first, last] = [kept[0], kept.at(-1)]
  if (Math.abs(first[0] - last[0]) > 1800) kept.push([last[0], 900], [first[0], 900]) // around the pole
  const beyond = kept.some(([x]) => x > 1800) ? -3600 : kept.some(([x]) => x < -1800) ? 3600 : 0
  return drawn(kept) + (beyond ? drawn(kept.map(([x, y]) => [x + beyond, y])) : "")
}
const drawn = kept => {
  return "M" + kept[0] + "l" + kept.slice(1).map(([x, y], i) => [x - kept[i][0], y - kept[i][1]].join(" ")).join(" ").replaceAll(" -", "-") + "z"
}
const rings = objects.land.geometries.flatMap(g => g.type == "Polygon" ? [g.arcs] : g.arcs).flat()
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800"><!-- Land of Natural Earth 4.1.0, 1:110m, public domain (naturalearthdata.com), by way of world-atlas 2.0.2 (ISC). Made by internal/tools/landmap/land.mjs. --><path id="land" d="${rings.map(path).join("")}"/></svg>\n`)
