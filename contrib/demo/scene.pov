// The demo's scene: spheres that dance around a glass ball, by `clock` 0..1.
// Deterministic: nothing in it depends on which rows are rendered together.
// No sky is in view, so that no part of a frame is all but free.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 6 }

#declare Turn = clock * 2 * pi;

camera {
    location <0.6, 5.4, -7.2>
    look_at <0.05, 0.15, -0.45>
    angle 41
    right x * image_width / image_height
}
light_source { <6, 9, -7> color rgb <1, 0.96, 0.88> }
light_source { <-7, 6, -2> color rgb <0.25, 0.30, 0.45> }
sky_sphere {
    pigment {
        gradient y
        color_map {
            [0 rgb <0.95, 0.75, 0.55>]
            [0.25 rgb <0.45, 0.62, 0.90>]
            [1 rgb <0.05, 0.14, 0.42>]
        }
    }
}
plane {
    y, 0
    pigment { checker rgb <0.92, 0.90, 0.86>, rgb <0.16, 0.20, 0.28> scale 0.8 }
    finish { reflection 0.22 diffuse 0.72 }
}

// Ring(Count, Radius, Size, Jump, Around): mirrors on a circle, which turns on
// by Around places a turn of the clock.
#macro Ring(Count, Radius, Size, Jump, Around)
    #local I = 0;
    #while (I < Count)
        #local Angle = (I + Around * clock) * 2 * pi / Count;
        sphere {
            <Radius * cos(Angle), Size + Jump * abs(sin(Turn + 2 * Angle)), Radius * sin(Angle)>, Size
            pigment { rgb <0.55 + 0.4 * cos(Angle), 0.5 + 0.4 * cos(Angle + 2.1), 0.55 + 0.4 * cos(Angle + 4.2)> }
            finish { reflection 0.5 specular 0.9 roughness 0.004 diffuse 0.45 }
        }
        #local I = I + 1;
    #end
#end
Ring(7, 1.95, 0.45, 0.45, 1)
Ring(16, 3.3, 0.28, 0.3, -1)
sphere {
    <0, 0.95, 0>, 0.9
    pigment { rgbt <0.97, 0.99, 1, 0.96> }
    finish { reflection { 0.05, 0.9 fresnel } conserve_energy specular 0.9 roughness 0.002 }
    interior { ior 1.45 }
}
