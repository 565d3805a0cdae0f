/** Degrees to metres and back: the plane that touches the WGS84 ellipsoid at the site's origin. */

const SEMI_MAJOR = 6378137;
const FLATTENING = 1 / 298.257223563;
const ECCENTRICITY2 = FLATTENING * (2 - FLATTENING);
const RADIANS = Math.PI / 180;
const STEPS = 6;

function curvature(latitude) {
  return SEMI_MAJOR / Math.sqrt(1 - ECCENTRICITY2 * Math.sin(latitude) ** 2);
}

function onEllipsoid(latitude, longitude) {
  const radius = curvature(latitude);
  return [
    radius * Math.cos(latitude) * Math.cos(longitude),
    radius * Math.cos(latitude) * Math.sin(longitude),
    radius * (1 - ECCENTRICITY2) * Math.sin(latitude),
  ];
}

/** East and north [m] of an origin (latitude, longitude) [degrees], and back. */
export class Globe {
  constructor([latitude, longitude]) {
    this.latitude = latitude * RADIANS;
    this.longitude = longitude * RADIANS;
    this.centre = onEllipsoid(this.latitude, this.longitude);
    const radius = curvature(this.latitude);
    const bend = 1 - ECCENTRICITY2 * Math.sin(this.latitude) ** 2;
    /** [m] a radian, northward and eastward. */
    this.northward = (radius * (1 - ECCENTRICITY2)) / bend;
    this.eastward = radius * Math.cos(this.latitude);
  }

  toMetres(latitude, longitude) {
    const place = onEllipsoid(latitude * RADIANS, longitude * RADIANS);
    const [x, y, z] = place.map((value, axis) => value - this.centre[axis]);
    const [sinLat, cosLat] = [Math.sin(this.latitude), Math.cos(this.latitude)];
    const [sinLon, cosLon] = [Math.sin(this.longitude), Math.cos(this.longitude)];
    return [-sinLon * x + cosLon * y, -sinLat * cosLon * x - sinLat * sinLon * y + cosLat * z];
  }

  /** Latitude and longitude [degrees], by Newton's steps with the slope at the origin. */
  toDegrees([east, north]) {
    let latitude = this.latitude;
    let longitude = this.longitude;
    for (let step = 0; step < STEPS; step++) {
      const [gotEast, gotNorth] = this.toMetres(latitude / RADIANS, longitude / RADIANS);
      latitude += (north - gotNorth) / this.northward;
      longitude += (east - gotEast) / this.eastward;
    }
    return [latitude / RADIANS, longitude / RADIANS];
  }
}
